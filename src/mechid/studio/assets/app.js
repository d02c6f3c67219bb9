// The studio: the rail with its five ways and the files, and the way that the address names.

import { get } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { showFiles } from "./files.js";
import { complain, head } from "./parts.js";
import { addressOf, on, place, refreshFiles, refreshJobs, store, tell, WAYS } from "./store.js";
import { excite } from "./ways/excite.js";
import { identify } from "./ways/identify.js";
import { jobs } from "./ways/jobs.js";
import { measure } from "./ways/measure.js";
import { model } from "./ways/model.js";

const SHOW = { model, measure, excite, identify, jobs };
const TITLES = {
  model: "Model",
  measure: "Measure",
  excite: "Excite",
  identify: "Identify",
  jobs: "Jobs",
};
const EVERY = 3000; // milliseconds between looks at the jobs and the files

const main = document.getElementById("main");
const rail = document.getElementById("rail");
const root = document.documentElement;

/** The way that is shown; it says what to do when it is left. */
let leave = () => {};

async function show(focus = true) {
  const { way, of } = place();
  leave();
  leave = () => {};
  // Each way has an element of its own: what it adds late does not get into the next one.
  const host = h("div", { class: "way" });
  fill(main, host);
  showWays();
  document.title = `${TITLES[way]} · mechid studio`;
  rail.classList.remove("open");
  try {
    const close = (await SHOW[way](host, of)) ?? (() => {});
    if (host.isConnected) leave = close;
    else close();
  } catch (error) {
    if (host.isConnected) complain(error);
    fill(host, head(TITLES[way], "This could not be shown."));
  }
  if (focus && host.isConnected) main.focus({ preventScroll: true });
}

function showWays() {
  const here = place().way;
  const running = store.jobs.filter((job) => job.state === "running").length;
  fill(
    document.getElementById("ways"),
    WAYS.map((way, k) =>
      h(
        "a",
        {
          href: addressOf(way),
          "aria-current": way === here ? "page" : null,
          title: `Alt+${k + 1}`,
        },
        icon(way),
        TITLES[way],
        way === "jobs" && running
          ? h("span", { class: "badge", "aria-label": `${running} running` }, running)
          : null,
      ),
    ),
  );
}

function isDark() {
  const chosen = root.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function showFoot() {
  const other = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("mechid-theme", root.dataset.theme);
    tell("theme");
  };
  const button = h(
    "button",
    {
      class: "bare",
      type: "button",
      "aria-label": "Light or dark",
      title: "Light or dark",
      onclick: other,
    },
    icon("theme"),
  );
  fill(document.getElementById("foot"), h("span", {}, `mechid ${store.state.version}`), button);
  const open = () => rail.classList.toggle("open");
  const drawer = h(
    "button",
    { class: "button drawer", type: "button", onclick: open },
    icon("folder"),
    "Files",
  );
  document.querySelector(".brand").append(drawer);
}

/** Alt and a digit goes to a way. */
function listen() {
  window.addEventListener("hashchange", () => show());
  window.addEventListener("keydown", (event) => {
    const way = event.altKey && !event.ctrlKey && WAYS[Number(event.key) - 1];
    if (!way) return;
    event.preventDefault();
    location.hash = addressOf(way);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => tell("theme"));
  on("jobs", showWays);
  on("place", showWays);
}

/** Jobs end and files come while nobody clicks; a page in the background need not look. */
async function look() {
  if (document.hidden) return;
  const before = store.jobs.filter((job) => job.state === "running").length;
  await refreshJobs();
  const now = store.jobs.filter((job) => job.state === "running").length;
  if (before || now) await refreshFiles();
}

/** What the command line named: a model or a run. */
function open(path) {
  const isRun = store.files.some((file) => file.path === path && file.kind === "run");
  history.replaceState(
    null,
    "",
    isRun ? addressOf("identify", { run: path }) : addressOf("model", { model: path }),
  );
}

async function start() {
  store.state = await get("state");
  await Promise.all([refreshFiles(), refreshJobs()]);
  showFoot();
  showFiles(document.getElementById("folder"), rail);
  if (!location.hash && store.state.opened) open(store.state.opened);
  listen();
  await show(false);
  setInterval(() => look().catch(() => {}), EVERY);
  window.studio = { ready: true }; // for tests
}

start().catch((error) =>
  fill(main, head("The studio could not start", error.what ?? error.message)),
);
