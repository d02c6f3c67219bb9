// A job as it runs: how far it is, what it prints, and a button to stop it. The job itself is a
// process of its own; closing the page does nothing to it.

import { follow, post } from "./api.js";
import { fill, h, icon, number } from "./dom.js";
import { action } from "./parts.js";
import { refreshFiles, refreshJobs } from "./store.js";

export const WORDS = {
  running: "running",
  done: "done",
  failed: "failed",
  stopped: "stopped",
  lost: "lost",
};

export const chipOf = (state) =>
  h("span", { class: `chip ${state === "lost" ? "failed" : state}` }, WORDS[state] ?? state);

/** Start a job and tell the list of jobs. */
export async function startJob(command, args, title) {
  const job = await post("jobs", { command, arguments: args, title });
  await refreshJobs();
  return job;
}

export class JobCard {
  /** `onend(job)` is called when it ends, `onprogress(entries)` with all entries so far. */
  constructor(job, { onend = () => {}, onprogress = () => {}, open = false } = {}) {
    this.entries = [];
    this.chip = h("span", {});
    this.bar = h(
      "div",
      { class: "bar unknown", role: "progressbar", "aria-label": "Progress" },
      h("span", {}),
    );
    this.words = h("p", { class: "soft", role: "status" }, "starting");
    this.log = h("pre", { class: "log", tabindex: "0", "aria-label": "Output" });
    this.stop = h(
      "button",
      { class: "button", type: "button", onclick: action(() => post(`jobs/${job.id}/stop`)) },
      icon("stop"),
      "Stop",
    );
    this.host = h(
      "section",
      { class: "panel job", "aria-label": job.title },
      h("header", {}, h("h2", {}, job.title), this.chip, this.stop),
      h(
        "div",
        { class: "in" },
        this.bar,
        this.words,
        h(
          "details",
          { open },
          h("summary", {}, "Output"),
          this.log,
          h(
            "p",
            { class: "line" },
            h("small", {}, "The same on the command line: "),
            h("code", {}, job.line ?? ""),
          ),
        ),
      ),
    );
    this.tell(job);
    this.end = follow(job.id, {
      state: (now) => {
        this.tell(now);
        if (now.state === "running") return;
        this.close();
        refreshJobs()
          .then(refreshFiles)
          .then(() => onend(now));
      },
      log: ({ text }) => this.print(text),
      progress: ({ entries }) => {
        this.entries.push(...entries);
        this.progress(this.entries.at(-1));
        onprogress(this.entries);
      },
    });
  }

  tell(job) {
    fill(this.chip, chipOf(job.state));
    const running = job.state === "running";
    this.stop.hidden = !running;
    this.bar.hidden = !running;
    if (!running) {
      const took = job.ended ? ` after ${duration(job.ended - job.created)}` : "";
      this.words.textContent =
        {
          done: `Done${took}.`,
          failed: `Failed${took}; the output says why.`,
          stopped: `Stopped${took}.`,
          lost: "The process is gone; the output ends where it was.",
        }[job.state] ?? "";
      if (job.state === "failed") this.host.querySelector("details").open = true;
    }
  }

  print(text) {
    const atEnd = this.log.scrollTop + this.log.clientHeight > this.log.scrollHeight - 30;
    this.log.append(text);
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  progress({ what, step, done, best, seconds }) {
    const known = done !== null && done !== undefined;
    this.bar.classList.toggle("unknown", !known);
    this.bar.style.setProperty("--share", `${100 * (done ?? 0)}%`);
    if (known) this.bar.setAttribute("aria-valuenow", String(Math.round(100 * done)));
    else this.bar.removeAttribute("aria-valuenow");
    const parts = [
      what,
      step ? `step ${step}` : "",
      known ? `${Math.round(100 * done)} %` : "",
      best === null || best === undefined ? "" : `best so far ${number(best)}`,
      seconds === undefined ? "" : duration(seconds),
    ];
    this.words.textContent = parts.filter(Boolean).join(" · ");
  }

  close() {
    this.end();
  }
}

export function duration(seconds) {
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
