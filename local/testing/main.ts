/** The polling as a program of its own, which a test can kill. Its options come as JSON in the first argument. */
import { startPolling } from "../polling/polling.ts";

startPolling({ ...JSON.parse(process.argv[2] ?? ""), say: (line: string) => console.log(line) });
