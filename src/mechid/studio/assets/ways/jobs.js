// Jobs: all commands that were started here, the newest first, with their output.

import { get } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { chipOf, duration, JobCard } from "../job.js";
import { openFile } from "../files.js";
import { head } from "../parts.js";
import { note, on, place, store } from "../store.js";
import { startStudy } from "../study.js";

export async function jobs(host, { job: id }) {
  const list = h("tbody", {});
  const detail = h("div", { class: "detail" });
  let card = null;

  const show = async (name) => {
    note({ job: name });
    card?.close();
    card = new JobCard(await get(`jobs/${name}`), { open: true });
    fill(detail, card.host);
    draw();
  };

  const draw = () => {
    const chosen = place().of.job;
    const had = list.contains(document.activeElement)
      ? document.activeElement.closest("tr")?.dataset.job
      : null;
    fill(
      list,
      store.jobs.map((job) =>
        h(
          "tr",
          {
            class: "pick",
            "data-job": job.id,
            "aria-selected": job.id === chosen ? "true" : "false",
            onclick: () => show(job.id),
          },
          h("td", {}, chipOf(job.state)),
          h(
            "th",
            { scope: "row" },
            h(
              "button",
              {
                type: "button",
                class: "link",
                onclick: (event) => (event.stopPropagation(), show(job.id)),
              },
              job.title,
            ),
          ),
          h("td", { class: "soft" }, when(job.created)),
          h("td", { class: "number" }, job.ended ? duration(job.ended - job.created) : "\u2013"),
          h(
            "td",
            {},
            (job.outputs ?? []).map((path) => output(path)),
          ),
        ),
      ),
    );
    if (had) list.querySelector(`tr[data-job="${CSS.escape(had)}"] button`)?.focus();
  };

  const empty = store.jobs.length === 0;
  fill(
    host,
    head(
      "Jobs",
      "Commands that run, or ran, in processes of their own. They go on when this page is closed.",
      h(
        "button",
        { class: "button", type: "button", onclick: startStudy },
        icon("plus"),
        "Start a study",
      ),
    ),
    h(
      "div",
      { class: "body" },
      empty
        ? h(
            "section",
            { class: "panel" },
            h("div", { class: "in center soft" }, "Nothing was started yet."),
          )
        : h(
            "section",
            { class: "panel wide", "aria-label": "Jobs" },
            h(
              "table",
              {},
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  ["state", "job", "started", "took", "wrote"].map((t) =>
                    h("th", { scope: "col", class: t === "took" ? "number" : null }, t),
                  ),
                ),
              ),
              list,
            ),
          ),
      detail,
    ),
  );
  draw();
  const forget = on("jobs", draw);
  if (id) await show(id);
  return () => {
    forget();
    card?.close();
  };
}

function output(path) {
  const file = store.files.find((entry) => entry.path === path);
  return file
    ? h(
        "button",
        {
          type: "button",
          class: "link",
          onclick: (event) => (event.stopPropagation(), openFile(file)),
        },
        path,
      )
    : h("span", { class: "soft" }, path);
}

function when(seconds) {
  const date = new Date(1000 * seconds);
  const today = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(
    "en-GB",
    today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" },
  );
}
