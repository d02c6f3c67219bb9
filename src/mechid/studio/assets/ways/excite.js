import { head } from "../parts.js";
import { fill } from "../dom.js";
export async function excite(host) { fill(host, head("excite")); }
