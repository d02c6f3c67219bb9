"""Devices: where the numbers of large batches are computed, and what a GPU needs (CuPy)."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from mechid.errors import DataError, MechidError

CPU = "cpu"


def chosen_device(given: str | None = None) -> str:
    """Return the device to use: the given one, that of MECHID_DEVICE, or the processor.

    Returns
    -------
    str
        "cpu", or "cuda:" and the number of a GPU.

    Raises
    ------
    DataError
        If there is no such device.
    """
    device = given or os.environ.get("MECHID_DEVICE") or CPU
    if device == CPU:
        return device
    if not re.fullmatch(r"cuda(:\d+)?", device):
        raise DataError(
            f"there is no device {device!r}", remedy="choose one of: cpu, cuda, cuda:0, cuda:1, …"
        )
    return device if ":" in device else "cuda:0"


def cuda(device: str) -> Any:
    """Return CuPy, with a GPU made the current device.

    Raises
    ------
    MechidError
        Without CuPy or without that GPU, with what to install.
    """
    try:
        import cupy
    except ImportError:
        raise MechidError(
            f"the device {device} needs CuPy",
            remedy="pip install 'mechid[gpu]', or leave out the device to use the processor",
        ) from None
    number = int(device.partition(":")[2] or 0)
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise MechidError(
            f"the device {device} cannot be used: {error}",
            remedy="install the driver of the GPU, or leave out the device to use the processor",
        ) from None
    if number >= count:
        raise MechidError(
            f"there is no device {device}: this machine has {count} GPU{'s' * (count != 1)}",
            remedy="choose one of: cpu" + "".join(f", cuda:{i}" for i in range(count)),
        )
    cupy.cuda.Device(number).use()
    return cupy


def usable_device(given: str | None = None) -> str:
    """Return the chosen device, or raise if it cannot be used here."""
    device = chosen_device(given)
    if device != CPU:
        cuda(device)
    return device


@cache
def loaded(source: str, device: str) -> Any:
    """Return CUDA source as a module on a GPU; CuPy keeps compiled code on disk."""
    return cuda(device).RawModule(code=source, options=("--std=c++17",))
