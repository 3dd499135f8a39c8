import { describe } from "vitest";
import { signingCases } from "../../../../core/testkit/signing-cases.ts";

describe("in workerd", signingCases);
