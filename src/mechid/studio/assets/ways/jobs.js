import { head } from "../parts.js";
import { fill } from "../dom.js";
export async function jobs(host) { fill(host, head("jobs")); }
