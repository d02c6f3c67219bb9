import { head } from "../parts.js";
import { fill } from "../dom.js";
export async function measure(host) { fill(host, head("measure")); }
