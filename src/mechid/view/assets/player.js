// Time: play, pause, scrub, speed and loop.

const ICONS = {
  play: '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M5 3l12 7-12 7z"/></svg>',
  pause: '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M5 3h4v14H5zM11 3h4v14h-4z"/></svg>',
};

export class Player {
  /** host: the element with the button, slider, clock, speed and loop controls in it. */
  constructor(motion, host, onChange) {
    const control = (name) => host.querySelector(`[name=${name}]`);
    const controls = {
      button: control("play"),
      slider: control("time"),
      speed: control("speed"),
      loop: control("loop"),
      clock: host.querySelector("output"),
    };
    this.motion = motion;
    this.controls = controls;
    this.onChange = onChange;
    this.time = motion.start;
    this.playing = false;
    controls.button.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    controls.slider.addEventListener("input", () => {
      const share = Number(controls.slider.value) / 1000;
      this.seek(motion.start + share * (motion.end - motion.start));
    });
    window.addEventListener("keydown", (event) => {
      // On a button or a list that has the focus, the space bar already has a meaning.
      if (event.code !== "Space" || event.target.closest?.("button, select, input[type=checkbox]"))
        return;
      event.preventDefault();
      controls.button.click();
    });
    // A button pressed with the pointer must not keep the space bar for itself.
    document.addEventListener("click", (event) => {
      if (event.detail > 0) event.target.closest?.("button, input[type=checkbox]")?.blur();
    });
    controls.speed.addEventListener("change", () => controls.speed.blur());
    this.show();
  }

  play() {
    if (!this.motion.moves) return;
    if (this.time >= this.motion.end) this.time = this.motion.start;
    this.playing = true;
    this.show();
  }

  pause() {
    this.playing = false;
    this.show();
  }

  /** Go to a time and stay there. */
  seek(t) {
    this.time = Math.min(Math.max(t, this.motion.start), this.motion.end);
    this.pause();
    this.onChange();
  }

  /** Let `elapsed` seconds of the reader's time pass. */
  advance(elapsed) {
    if (!this.playing) return;
    const { start, end } = this.motion;
    this.time += elapsed * Number(this.controls.speed.value);
    if (this.time > end) {
      if (this.controls.loop.checked) {
        this.time = start + ((this.time - start) % (end - start));
      } else {
        this.time = end;
        this.playing = false;
      }
    }
    this.show();
    this.onChange();
  }

  show() {
    const { button, slider, clock } = this.controls;
    const { start, end } = this.motion;
    const state = this.playing ? "pause" : "play";
    if (button.dataset.state !== state) {
      button.dataset.state = state;
      button.innerHTML = ICONS[state];
      button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    }
    const share = this.motion.moves ? (this.time - start) / (end - start) : 0;
    const digits = end - start < 1 ? 4 : 2;
    slider.value = String(1000 * share);
    slider.style.setProperty("--share", `${100 * share}%`);
    slider.setAttribute("aria-valuetext", `${this.time.toFixed(digits)} s`);
    clock.textContent = `${this.time.toFixed(digits)} / ${end.toFixed(digits)} s`;
  }
}
