// The server: JSON in, JSON out, and one kind of error.

export class StudioError extends Error {
  constructor({ what, where, remedy, line, status }) {
    super(what);
    Object.assign(this, { what, where, remedy, line, status });
  }
}

async function request(method, address, { body, headers = {} } = {}) {
  let answer;
  try {
    answer = await fetch(address, { method, body, headers: { "X-Mechid": "1", ...headers } });
  } catch {
    throw new StudioError({
      what: "the server does not answer",
      remedy: "start mechid studio again, in the same folder; jobs go on meanwhile",
      status: 0,
    });
  }
  const isJson = (answer.headers.get("content-type") ?? "").includes("json");
  const content = isJson ? await answer.json() : await answer.text();
  if (answer.ok) return content;
  const error = content?.error ?? { what: `the server answered ${answer.status}` };
  throw new StudioError({ ...error, status: answer.status });
}

const address = (path, query) => {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  return `/api/${path}${entries.length ? `?${new URLSearchParams(entries)}` : ""}`;
};

export const get = (path, query) => request("GET", address(path, query));

export const post = (path, value = {}) =>
  request("POST", address(path), {
    body: JSON.stringify(value),
    headers: { "Content-Type": "application/json" },
  });

/** Write a text file; `etag` is that of the version which was read, to notice other changes. */
export const write = (path, text, etag) =>
  request("PUT", address("file", { path }), {
    body: text,
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      ...(etag ? { "If-Match": `"${etag}"` } : {}),
    },
  });

export const upload = (file, replace = false) =>
  request("POST", address("upload", { path: file.name, replace: replace ? "1" : undefined }), {
    body: file,
    headers: { "Content-Type": "application/octet-stream" },
  });

export const downloadAddress = (path) => address("download", { path });

/** The report of a run; of several, the page that compares them. */
export function reportAddress(paths, theme) {
  const query = new URLSearchParams(paths.map((path) => ["path", path]));
  if (theme) query.set("theme", theme);
  return `/api/run/report?${query}`;
}

export const sheetAddress = (name, mirror) =>
  address("template/sheet", { name, mirror: mirror ? "1" : undefined });

/** Follow a job: `handlers` by the name of the event. Returns a function that ends it. */
export function follow(id, handlers) {
  const source = new EventSource(address(`jobs/${id}/events`));
  for (const [name, handler] of Object.entries(handlers))
    source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  return () => source.close();
}
