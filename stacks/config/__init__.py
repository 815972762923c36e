"""Typed settings of an environment.

``loader`` reads Pulumi's configuration and is imported by its own name; nothing else here needs Pulumi.
"""

from stacks.config.acceptance import AcceptanceSettings, block_nodes, wanted_tests
from stacks.config.files import cluster_source, load_file, settings_file
from stacks.config.models import KubeconfigCluster, LabCluster
from stacks.config.problems import SettingProblem, SettingsError
from stacks.config.resolve import Settings, load
from stacks.config.versions import Artifacts, ChartRef, Versions

__all__ = [
    "AcceptanceSettings",
    "Artifacts",
    "ChartRef",
    "KubeconfigCluster",
    "LabCluster",
    "SettingProblem",
    "Settings",
    "SettingsError",
    "Versions",
    "block_nodes",
    "cluster_source",
    "load",
    "load_file",
    "settings_file",
    "wanted_tests",
]
