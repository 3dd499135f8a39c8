import { expect, test } from "vitest";
import { auditText } from "./status.ts";

test("the progress of the audit log into its database", () => {
  const fine = { waiting: 0, since: null, problem: null, lost: 0 };
  expect(auditText(fine, 1)).toBe("all of it is in its database");
  expect(auditText({ waiting: 2_000, since: 0, problem: "AUDIT_URL answered 401", lost: 7 }, 7_200_000)).toBe(
    "2 KiB wait for its database, the first came 2 h ago; AUDIT_URL answered 401; 7 lines were lost to it",
  );
});
