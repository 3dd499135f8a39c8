/** Runs the doctors, and finally uninstalls everything. */
import type { Home } from "./home.ts";
import type { Machine } from "./machine.ts";
import type { Recorder } from "./record.ts";

/** Everything of ours on a machine has the name in its path. The packages that apt keeps are apt's own. */
const LEFT =
  "find /etc /opt /run /usr/local /var/lib /home -iname '*edgecall*' -not -path '/run/systemd/*'; getent passwd | grep edgecall";

export async function askDoctors(home: Home, recorder: Recorder): Promise<void> {
  const { person, machines } = home;
  await recorder.step("no doctor finds anything wrong", async () => {
    const results = [
      ["edgecall doctor", await person.doctor()],
      ["hub", await person.type(machines.hub, "sudo edgecall bridge doctor")],
      ["hub", await person.type(machines.hub, "sudo edgecall agent doctor")],
      ["eye", await person.type(machines.eye, "sudo edgecall agent doctor")],
    ] as const;
    for (const [where, { code, out }] of results)
      if (code !== 0) throw new Error(`${where}: ended with ${code}\n${out}`);
    return { note: results[0][1].out };
  });
}

export async function takeAway({ person, machines }: Home, recorder: Recorder): Promise<void> {
  const take = async (machine: Machine, service: "agent" | "bridge") => {
    const { code, out } = await person.type(machine, `sudo edgecall ${service} uninstall --purge`);
    if (code !== 0) throw new Error(`${machine.name}, ${service}: ended with ${code}\n${out}`);
  };
  await recorder.step("all of it is taken away again", async () => {
    if ((await leftOn(machines.hub)) === "") throw new Error("nothing was found that could be taken away");
    await take(machines.arm, "agent");
    await take(machines.hub, "agent");
    await take(machines.hub, "bridge");
    for (const machine of [machines.arm, machines.hub]) {
      const out = await leftOn(machine);
      if (out !== "") throw new Error(`left on ${machine.name}:\n${out}`);
    }
    return {};
  });
}

/** What a machine has of ours; empty: nothing. */
export async function leftOn(machine: Machine): Promise<string> {
  return (await machine.look(LEFT)).out;
}
