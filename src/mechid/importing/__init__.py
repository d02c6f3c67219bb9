"""Files of other tools as models: URDF and MJCF."""
