"""Kinematics through the loops: spanning tree and cut joints, closure, motion, mobility."""
