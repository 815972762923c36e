"""One scrape of all simulated GPUs as text, in the order and with the labels of dcgm-exporter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .faults import faults_of
from .placement import Holder, Node, Placement, node_of, uuid_of
from .readings import DRIVER_VERSION, METRICS, Sample, Totals, count, samples, utilisation

# The real bus numbers of a DGX H100's GPUs are apart like these; eight of them, then on.
_BUSES = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)
MARK = "LAB, simulated GPU:"


@dataclass
class Fleet:
    """Everything that lasts between two scrapes."""

    _placement: Placement = field(default_factory=Placement)
    _totals: dict[tuple[str, int], Totals] = field(default_factory=dict)
    _last: float = 0

    def scrape(
        self,
        nodes: Sequence[Mapping[str, Any]],
        pods: Sequence[Mapping[str, Any]],
        faults: Mapping[str, str],
        now: float,
    ) -> str:
        """The text of one scrape.

        Args:
            nodes: Manifests of the simulated nodes.
            pods: Manifests of pods; those elsewhere are left out.
            faults: Data of the ConfigMap with the faults.
            now: Unix time.
        """
        known = {node.name: node for manifest in nodes if (node := node_of(manifest))}
        self._placement.update(known, pods)
        holders = self._placement.holders()
        seconds = max(0.0, now - self._last) if self._last else 0.0
        self._last = now
        lines: dict[str, list[str]] = {metric: [] for metric in METRICS}
        for name in sorted(known):
            for gpu in range(known[name].gpus):
                holder = holders.get((name, gpu))
                for sample in self._read(known[name], gpu, holder, faults, now=now, seconds=seconds):
                    lines[sample.metric].append(_line(sample, known[name], gpu, holder))
        return "".join(_block(metric, found) for metric, found in lines.items() if found) + _about(len(known))

    def _read(
        self,
        node: Node,
        gpu: int,
        holder: Holder | None,
        data: Mapping[str, str],
        *,
        now: float,
        seconds: float,
    ) -> list[Sample]:
        faults = faults_of(data, node.name, gpu)
        totals = self._totals.setdefault((node.name, gpu), Totals())
        held = holder is not None
        count(
            totals,
            seconds=seconds,
            load=utilisation(held=held, faults=faults),
            family=node.family,
            names=frozenset(fault.name for fault in faults),
        )
        return samples(
            family=node.family,
            memory_mib=node.memory_mib,
            held=held,
            faults=faults,
            totals=totals,
            now=now,
        )


def _block(metric: str, lines: Sequence[str]) -> str:
    kind, text = METRICS[metric]
    return "\n".join((f"# HELP {metric} {MARK} {text}", f"# TYPE {metric} {kind}", *lines, ""))


def _line(sample: Sample, node: Node, gpu: int, holder: Holder | None) -> str:
    own = [
        ("gpu", str(gpu)),
        ("UUID", uuid_of(node.name, gpu)),
        ("pci_bus_id", f"00000000:{_BUSES[gpu % len(_BUSES)] + gpu // len(_BUSES):02X}:00.0"),
        ("device", f"nvidia{gpu}"),
        ("modelName", node.model),
        ("Hostname", node.name),
        ("DCGM_FI_DRIVER_VERSION", DRIVER_VERSION),
    ]
    more = {**dict(sample.labels), "pool": node.pool}
    if holder is not None:
        more |= {
            "container": holder.container,
            "namespace": holder.namespace,
            "pod": holder.pod,
            "pod_uid": "",
        }
    labels = ",".join(f'{name}="{value}"' for name, value in (*own, *sorted(more.items())))
    value = f"{sample.value:.6f}" if sample.value % 1 else f"{sample.value:.0f}"
    return f"{sample.metric}{{{labels}}} {value}"


def _about(nodes: int) -> str:
    name = "gpu_platform_simulated_nodes"
    return (
        f"# HELP {name} {MARK} nodes whose telemetry is played here.\n# TYPE {name} gauge\n{name} {nodes}\n"
    )
