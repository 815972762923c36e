"""Prices: dated, each with how far it can be trusted. What has no price is "unpriced", never 0.

Prices move: list prices of p5 fell by almost half in 2025, spot prices change within the hour. So ``quote``
takes today's date and says when a figure is too old to rely on.
"""

import datetime
from dataclasses import dataclass
from enum import StrEnum

from components.catalog.instance_prices import ON_DEMAND_USD_PER_HOUR
from components.catalog.table import Table


class Market(StrEnum):
    """How an instance is bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    CAPACITY_BLOCK = "capacity-block"


class Confidence(StrEnum):
    """How far a price can be trusted."""

    LIST = "list"
    """The seller's own published price."""
    OBSERVED = "observed"
    """Seen by a third party."""
    STALE = "stale"
    """Older than ``Price.max_age_days``; ask again before it decides anything."""
    UNPRICED = "unpriced"
    """No figure."""


class PriceClass(StrEnum):
    """Purchase price of a server, thousand USD; each reaches up to the next one."""

    BELOW_25 = "below-25k"
    FROM_25 = "25k-100k"
    FROM_100 = "100k-250k"
    FROM_250 = "250k-and-above"
    UNPRICED = "unpriced"


@dataclass(frozen=True, kw_only=True)
class Price:
    """What one instance costs, Linux, without storage and traffic.

    Args:
        key: ``<instance>/<market>/<region>``.
        instance: Catalogue key of the instance type.
        market: How it is bought.
        region: AWS region.
        usd_per_hour: Price of the whole instance, USD per hour; the upper end where a range was seen.
        confidence: LIST or OBSERVED.
        max_age_days: Days after which it is stale.
        source: Public address of the figure.
        date: Day it was published or read, ISO 8601.
    """

    key: str
    instance: str
    market: Market
    region: str
    usd_per_hour: float
    confidence: Confidence
    max_age_days: int
    source: str
    date: str


@dataclass(frozen=True, kw_only=True)
class BoardPrice:
    """What one GPU costs to buy.

    Args:
        key: Catalogue key of the GPU.
        usd: Price seen, USD.
        confidence: OBSERVED, as makers publish no list price.
        source: Public address of the figure.
        date: Day it was published or read, ISO 8601.
    """

    key: str
    usd: int
    confidence: Confidence
    source: str
    date: str


@dataclass(frozen=True, kw_only=True)
class Quote:
    """An answer about a price.

    Args:
        usd_per_hour: USD per hour, or None when unpriced.
        confidence: How far it can be trusted today.
        age_days: Days since the figure's date, or None when unpriced.
        source: Where the figure comes from; empty when unpriced.
        date: The figure's date; empty when unpriced.
    """

    usd_per_hour: float | None
    confidence: Confidence
    age_days: int | None = None
    source: str = ""
    date: str = ""

    def __str__(self) -> str:
        """E.g. ``55.04 USD/h (list, 2026-07-20)``, or ``unpriced``."""
        if self.usd_per_hour is None:
            return self.confidence.value
        return f"{self.usd_per_hour:.2f} USD/h ({self.confidence.value}, {self.date})"


_KARPENTER = "https://github.com/aws/karpenter-provider-aws/blob/main/pkg/providers/pricing/zz_generated.pricing_aws.go"
_MAX_AGE_DAYS = {Market.ON_DEMAND: 180, Market.CAPACITY_BLOCK: 90, Market.SPOT: 7}


def _price(  # noqa: PLR0917 - rows read as a table
    instance: str, market: Market, region: str, usd: float, date: str, source: str, confidence: Confidence
) -> Price:
    return Price(
        key=f"{instance}/{market.value}/{region}",
        instance=instance,
        market=market,
        region=region,
        usd_per_hour=usd,
        confidence=confidence,
        max_age_days=_MAX_AGE_DAYS[market],
        source=source,
        date=date,
    )


# A mirror of AWS's page of Capacity Block prices as it stood late in 2024.
_BLOCKS = "http://sibshop.uat.jiralog.com/ec2/capacityblocks/pricing"

PRICES: Table[Price] = Table(
    "price",
    (
        *(
            _price(name, Market.ON_DEMAND, "us-east-1", usd, "2026-07-20", _KARPENTER, Confidence.LIST)
            for name, usd in ON_DEMAND_USD_PER_HOUR.items()
        ),
        _price(
            "p5.48xlarge",
            Market.CAPACITY_BLOCK,
            "us-east-1",
            39.33,
            "2024-12-01",
            _BLOCKS,
            Confidence.OBSERVED,
        ),
        _price(
            "p5e.48xlarge",
            Market.CAPACITY_BLOCK,
            "us-east-2",
            43.26,
            "2024-12-01",
            _BLOCKS,
            Confidence.OBSERVED,
        ),
        _price(
            "p4d.24xlarge",
            Market.CAPACITY_BLOCK,
            "us-east-2",
            14.75,
            "2024-12-01",
            _BLOCKS,
            Confidence.OBSERVED,
        ),
        # Seen between 26.57 and 39.82.
        _price(
            "p5en.48xlarge",
            Market.SPOT,
            "us-east-1",
            39.82,
            "2026-08-01",
            "https://github.com/dstackai/dstack/pull/4110",
            Confidence.OBSERVED,
        ),
    ),
)

BOARD_PRICES: Table[BoardPrice] = Table(
    "board price",
    tuple(
        BoardPrice(
            key=key,
            usd=usd,
            confidence=Confidence.OBSERVED,
            source=f"https://huggingface.co/hardware/{page}",
            date="2026-11-30",
        )
        for key, usd, page in (
            ("h100-80", 30_000, "h100"),
            ("h200", 32_000, "h200"),
            ("b300", 45_000, "b300"),
            ("l40s", 8_500, "l40s"),
            ("t4", 2_000, "t4"),
        )
    ),
)

# What chassis, CPUs, RAM and NICs add to the GPUs, share of their price; the overhead of
# https://randomcalculators.com (on-prem against cloud GPU calculator), read 2026-08.
_SERVER_OVERHEAD = 0.4
_CLASSES_FROM_USD = (
    (250_000, PriceClass.FROM_250),
    (100_000, PriceClass.FROM_100),
    (25_000, PriceClass.FROM_25),
    (0, PriceClass.BELOW_25),
)


def quote(instance: str, market: Market, *, today: datetime.date, region: str = "us-east-1") -> Quote:
    """The price of an instance as far as the catalogue knows it.

    Args:
        instance: Name of an instance type.
        market: How it is bought.
        today: The day the answer is for.
        region: AWS region; a price of another region is no answer.
    """
    row = PRICES.get(f"{instance}/{market.value}/{region}")
    if row is None:
        return Quote(usd_per_hour=None, confidence=Confidence.UNPRICED)
    age_days = (today - datetime.date.fromisoformat(row.date)).days
    return Quote(
        usd_per_hour=row.usd_per_hour,
        confidence=Confidence.STALE if age_days > row.max_age_days else row.confidence,
        age_days=age_days,
        source=row.source,
        date=row.date,
    )


def price_class(gpu: str, gpus: int) -> PriceClass:
    """Class of the purchase price of a server, from its GPUs and a general overhead.

    Args:
        gpu: Catalogue key of its GPU.
        gpus: GPUs in it.
    """
    board = BOARD_PRICES.get(gpu)
    if board is None:
        return PriceClass.UNPRICED
    usd = board.usd * gpus * (1 + _SERVER_OVERHEAD)
    return next(found for lower, found in _CLASSES_FROM_USD if usd >= lower)
