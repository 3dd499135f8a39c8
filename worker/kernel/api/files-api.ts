/** Methods of a home about files. */
import type { FileQuery, ListedFile, NewFiles } from "./files.ts";
import type { Viewer } from "./may-see.ts";

export interface FilesApi {
  /** The files of devices that the caller may see, the newest first. */
  files(viewer: Viewer, query: FileQuery): Promise<ListedFile[]>;
  /** A conversation has files of devices. The same again changes nothing. */
  addFiles(added: NewFiles): Promise<void>;
  /** A listed file is not there any more. */
  removeFile(id: string): Promise<void>;
}
