/** The program of containedAsNobody: takes a folder and the attempts as JSON, and prints the results as JSON. */
import { contained } from "./contained.ts";

const [folder = "", tried = "{}"] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await contained(folder, JSON.parse(tried))));
