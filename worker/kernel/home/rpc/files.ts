/** What the rest of the Worker asks a home about files. */

import type { FilesApi } from "../../api/files-api.ts";
import { filesOf } from "../files/file-list.ts";
import type { HomePart } from "../part.ts";
import { conversationListOf } from "../people/conversation-list.ts";

export const filesRpc: HomePart<FilesApi> = {
  async files({ home }, viewer, query) {
    const { name } = home;
    return filesOf(home).page(
      viewer,
      conversationListOf(home).sharedTo(viewer.name),
      name,
      query,
      Date.now(),
    );
  },
  async addFiles({ home }, added) {
    filesOf(home).add(added);
  },
  async removeFile({ home }, id) {
    filesOf(home).remove(id);
  },
};
