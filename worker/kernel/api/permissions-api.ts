/** Methods of a home about standing permissions. */
import type { Viewer } from "./may-see.ts";
import type { PermissionView } from "./permissions.ts";

/** @property person a principal @property device an agent's id */
export type PermissionsOf = { person?: string | undefined; device?: string | undefined };

export interface PermissionsApi {
  /** Those that the viewer may see: owners and administrators all, others their own. The newest first. */
  list(viewer: Viewer, of: PermissionsOf & { ended: boolean }): Promise<PermissionView[]>;
  /** @returns undefined: there is none, or the viewer may not see it */
  end(viewer: Viewer, id: string): Promise<PermissionView | undefined>;
  /** Ends all of a person or of a device that the viewer may see. @returns those that ended */
  endAll(viewer: Viewer, of: PermissionsOf): Promise<PermissionView[]>;
}
