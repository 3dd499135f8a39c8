/**
 * The unchanged Worker, whose Home reports when it is built, called, and woken by its alarm. A hibernated object is built again
 * for the next event, so a Home that reports nothing was asleep or idle.
 */
import { Home as RealHome } from "../worker/home.ts";
import worker, { Conversation } from "../worker/index.ts";

export class Home extends RealHome {
  constructor(...args: ConstructorParameters<typeof RealHome>) {
    super(...args);
    console.log("home: built");
  }

  override async webSocketMessage(...args: Parameters<RealHome["webSocketMessage"]>): Promise<void> {
    console.log("home: message");
    await super.webSocketMessage(...args);
  }

  override async alarm(): Promise<void> {
    console.log("home: alarm");
    await super.alarm();
  }
}

export { Conversation };
export default worker;
