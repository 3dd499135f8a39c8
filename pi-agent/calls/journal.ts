/** Records the inner calls of a prompt in the ledger, so that it is known what a killed process did. */
import type { Call } from "@edgecall/core/loop/history.ts";
import { faultResult, type ToolResult, textOf } from "@edgecall/core/tools/contract.ts";
import { cutText, type ParsedCall } from "@edgecall/core/tools/runner.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { CommandLedger } from "./ledger.ts";
import { unrecordable } from "./refusals.ts";

/** Bytes of an inner call's arguments and result in the record. More would wear out an SD card. */
const RECORDED_BYTES = 1_000;

type Recorded = Pick<Call, "id" | "name">;

/** The record of one inner call. */
export class Journal {
  readonly #inner: Recorded;
  readonly #promptId: string;
  readonly #ledger: CommandLedger;
  #started = false;

  constructor(inner: Recorded, promptId: string, ledger: CommandLedger) {
    this.#inner = inner;
    this.#promptId = promptId;
    this.#ledger = ledger;
  }

  /** Call it right before the tool runs. @returns a refusal if the record failed and the tool must not run without one */
  async starting({ tool, input }: ParsedCall): Promise<ToolResult | undefined> {
    const { id } = this.#inner;
    const failure = await this.#ledger.innerStarted(
      this.#promptId,
      {
        call: id,
        tool: tool.name,
        // Another agent may do more than a read.
        read: tool.effect === "read" && (!tool.own || tool.idempotent),
        ...(Buffer.byteLength(JSON.stringify(input)) <= RECORDED_BYTES && { args: input }),
      },
      !tool.idempotent,
    );
    this.#started = true;
    if (failure === undefined || tool.idempotent) return undefined;
    return faultResult("io", unrecordable(messageOf(failure)));
  }

  /** Records the result. Nothing is written for a call that was never begun. */
  async ended(result: ToolResult, ms: number): Promise<void> {
    if (!this.#started) return;
    const done = { ok: !result.fault, text: cutText(textOf(result), RECORDED_BYTES), ms };
    await this.#ledger.innerEnded(this.#promptId, this.#inner.id, done);
  }
}
