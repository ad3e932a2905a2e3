__version__ = "0.1.0"

from .base import Calibrator, Identity, check_calibrator
