/** What real endpoints and models were seen to send, as a table: test/e2e/model-endpoint.test.ts plays it against gateway and device. */
import { CALLS } from "./calls.ts";
import { ERRORS } from "./errors.ts";
import { FORMS } from "./forms.ts";
import { LOOPS } from "./loops.ts";
import type { Cases } from "./replies.ts";
import { TEXTS } from "./texts.ts";
import { TRANSPORT } from "./transport.ts";

export const CASES: Cases = { ...TRANSPORT, ...CALLS, ...TEXTS, ...ERRORS, ...FORMS, ...LOOPS };
