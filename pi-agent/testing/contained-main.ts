/** For containedAsNobody: a folder, and what to try there as JSON; prints what came of it as JSON. */
import { contained } from "./contained.ts";

const [folder = "", tried = "{}"] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await contained(folder, JSON.parse(tried))));
