/** The unchanged Worker, whose functions record when they are entered (instrument.ts). */
import "./record.ts";
import worker from "../../worker/index.ts";
import { takeEntries } from "./record.ts";

export * from "../../worker/index.ts";

export default {
  async fetch(request: Request, env: never, ctx: ExecutionContext) {
    if (new URL(request.url).pathname === "/trace") return Response.json(takeEntries());
    return await worker.fetch(request, env, ctx);
  },
};
