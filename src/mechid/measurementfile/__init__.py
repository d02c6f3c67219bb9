"""Files of measurements: logs of several formats, and which of their channels is what."""

from mechid.measurementfile.document import json_schema, load_mapping
from mechid.measurementfile.read import read_measurement
from mechid.measurementfile.write import prepared_columns

__all__ = ["json_schema", "load_mapping", "prepared_columns", "read_measurement"]
