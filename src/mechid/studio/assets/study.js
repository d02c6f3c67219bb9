// A study as a job: one of the library or of the folder, on this machine or on a cluster.

import { h } from "./dom.js";
import { startJob } from "./job.js";
import { action, dialog, field, select } from "./parts.js";
import { filesOf, freeName, go, stemOf, store } from "./store.js";

export function startStudy() {
  const own = filesOf("study").map(({ path }) => [path, path]);
  const shipped = (store.state.studies ?? []).map(({ name, title }) => [
    name,
    `${title} (${name})`,
  ]);
  const study = select([...own, ...shipped], null, {
    required: true,
    onchange: () => (output.value = proposed()),
  });
  const proposed = () => freeName(stemOf(study.value), ".study");
  const output = h("input", { value: proposed(), required: true });
  const quick = h("input", { type: "checkbox", checked: true });
  const { scheduler } = store.state;
  const { close } = dialog(
    "Start a study",
    h(
      "form",
      {
        onsubmit: action(async () => {
          const job = await startJob(
            "study",
            { study: study.value, output: output.value.trim(), quick: quick.checked },
            `Study ${stemOf(study.value)}`,
          );
          close();
          go("jobs", { job: job.id });
        }),
      },
      field("Study", study, "A grid of experiments; study files of this folder come first."),
      field(
        "Folder",
        output,
        "A study that was stopped goes on when it is started with the same folder.",
      ),
      h("label", { class: "check" }, quick, h("span", {}, "In its quick size")),
      h(
        "p",
        { class: "soft" },
        scheduler
          ? `Runs on the cluster at ${scheduler}.`
          : "Runs on this machine; mechid studio --scheduler names a cluster.",
      ),
      h("div", { class: "row end" }, h("button", { class: "primary" }, "Start")),
    ),
  );
}
