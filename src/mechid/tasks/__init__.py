"""Whole tasks, from a model to a result, put together from the stages below."""
