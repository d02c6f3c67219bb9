import { head } from "../parts.js";
import { fill } from "../dom.js";
export async function identify(host) { fill(host, head("identify")); }
