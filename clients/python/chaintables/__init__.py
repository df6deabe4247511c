"""A client of chaintables: on-chain market data as rows, without dependencies."""

from .client import Client
from .errors import ApiError, ParameterError, SpendLimitError, UnreachableError
from .payment import USDC_ON_BASE, Payment
from .retry import Retry
from .table import Table
from .types import Column

__all__ = [
    "USDC_ON_BASE",
    "ApiError",
    "Client",
    "Column",
    "ParameterError",
    "Payment",
    "Retry",
    "SpendLimitError",
    "Table",
    "UnreachableError",
]
