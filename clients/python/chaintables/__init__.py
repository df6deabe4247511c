"""A client of chaintables: on-chain market data as rows, without dependencies."""

from ._endpoints import LIVE_KEYS
from .client import Client
from .errors import ApiError, ParameterError, SpendLimitError, UnreachableError
from .live import BlockRef, Live, LiveEvent
from .payment import USDC_ON_BASE, Payment
from .retry import Retry
from .table import Table
from .types import Column

__all__ = [
    "LIVE_KEYS",
    "USDC_ON_BASE",
    "ApiError",
    "BlockRef",
    "Client",
    "Column",
    "Live",
    "LiveEvent",
    "ParameterError",
    "Payment",
    "Retry",
    "SpendLimitError",
    "Table",
    "UnreachableError",
]
