// The motion between its samples: positions are interpolated linearly, orientations on the sphere.

import { Quaternion, Vector3 } from "three";

const position = ([x, y, z]) => new Vector3(x, y, z);
const rotation = ([, , , w, x, y, z]) => new Quaternion(x, y, z, w);

export class Motion {
  constructor({ time, poses }) {
    this.time = time;
    this.poses = poses;
    this.start = time[0];
    this.end = time[time.length - 1];
  }

  get moves() {
    return this.end > this.start;
  }

  /** Index of the last sample that is not later than t. */
  index(t) {
    let low = 0;
    let high = this.time.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Put the frames (one per body) at their poses at time t. */
  apply(t, frames) {
    const i = this.index(t);
    const j = Math.min(i + 1, this.time.length - 1);
    const span = this.time[j] - this.time[i];
    const share = span > 0 ? Math.min(Math.max((t - this.time[i]) / span, 0), 1) : 0;
    frames.forEach((frame, k) => {
      const from = this.poses[i][k];
      const to = this.poses[j][k];
      frame.position.copy(position(from)).lerp(position(to), share);
      frame.quaternion.copy(rotation(from)).slerp(rotation(to), share);
      frame.updateMatrixWorld(true);
    });
  }

  /** Where a point of a body is at a sample, in the ground frame. */
  place(sample, body, local) {
    const pose = this.poses[sample][body];
    return position(local).applyQuaternion(rotation(pose)).add(position(pose));
  }

  /** Sample indices, thinned to about `limit` and always with the last one. */
  samples(limit) {
    const last = this.time.length - 1;
    const step = Math.max(1, Math.ceil(last / limit));
    const picked = [];
    for (let i = 0; i < last; i += step) picked.push(i);
    return [...picked, last];
  }
}

/** Smallest and largest value; a loop, because long lists do not fit into one call of Math.max. */
export function limits(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
