// What all ways share: the address (a way and its arguments), the files, and what the server can do.

import { get } from "./api.js";

export const WAYS = ["model", "measure", "excite", "identify", "jobs"];

const listeners = new Map();

export const store = { state: null, files: [], jobs: [] };

/** Call `action` when `what` ("files", "jobs", "theme") has changed. */
export function on(what, action) {
  const list = listeners.get(what) ?? new Set();
  listeners.set(what, list.add(action));
  return () => list.delete(action);
}

export const tell = (what) => [...(listeners.get(what) ?? [])].forEach((action) => action());

/** The way and its arguments in the address: #/identify?model=car.yaml. */
export function place() {
  const [, way, query] = /^#\/(\w+)(?:\?(.*))?$/.exec(location.hash) ?? [];
  return {
    way: WAYS.includes(way) ? way : "model",
    of: Object.fromEntries(new URLSearchParams(query ?? "")),
  };
}

/** The address of a way; the model that is open stays the model of the other ways. */
export function addressOf(way, of = {}) {
  const model = of.model ?? place().of.model;
  const entries = Object.entries({ ...(model ? { model } : {}), ...of }).filter(([, v]) => v);
  return `#/${way}${entries.length ? `?${new URLSearchParams(entries)}` : ""}`;
}

export function go(way, of) {
  location.hash = addressOf(way, of);
}

/** Change arguments of the address without a new page. */
export function note(of) {
  const here = place();
  history.replaceState(null, "", addressOf(here.way, { ...here.of, ...of }));
  tell("place");
}

export async function refreshFiles() {
  store.files = await get("files");
  tell("files");
}

export async function refreshJobs() {
  store.jobs = await get("jobs");
  tell("jobs");
}

export const filesOf = (...kinds) => store.files.filter((file) => kinds.includes(file.kind));

export const exists = (path) => store.files.some((file) => file.path === path);

/** A name that no file has: "run", "run-2", "run-3". */
export function freeName(stem, suffix = "") {
  for (let k = 1; ; k += 1) {
    const name = `${stem}${k > 1 ? `-${k}` : ""}${suffix}`;
    if (!exists(name)) return name;
  }
}

export const stemOf = (path) =>
  path
    .replace(/^zoo:/, "")
    .replace(/^.*\//, "")
    .replace(/@.*$/, "")
    .replace(/\.[^.]*$/, "");
