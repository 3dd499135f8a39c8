/** The systemd unit of a gateway at home: Node, and workerd beneath it. docs/guides/home-without-cloudflare.md explains it. */
import { GATEWAY } from "../service/services.ts";
import { unitOf } from "../service/units/unit.ts";

export function unitText(options: { systemd: number }): string {
  return unitOf(
    GATEWAY,
    {
      description: "edgecall gateway: answers this home's people, and asks its devices",
      after: "network.target",
      run: "gateway run",
      ends: "Only a stop ends it for good.",
      // At rest it takes some 250 MiB, most of it workerd's.
      bounds: ["MemoryHigh=60%", "MemoryMax=75%", "TasksMax=256"],
      own: [
        "# The installer has copied the state of an older version, where the service may not write.",
        "Environment=UPGRADE_COPY=no",
        "# systemd reads it as root: the program cannot change it.",
        `EnvironmentFile=${GATEWAY.places.settings}`,
        "",
        "# It makes no namespaces and needs no device. (workerd compiles the Worker, so memory may be written and run.)",
        "RestrictNamespaces=yes",
        "PrivateDevices=yes",
        "ProtectProc=invisible",
        "SystemCallFilter=~@privileged",
      ],
    },
    options,
  );
}
