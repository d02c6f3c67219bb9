"""The mechanism as a graph of bodies, joints and force elements: immutable records."""
