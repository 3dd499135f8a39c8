/** The body of every answer that is an error. @param code for programs @param message for people */
export function errorBody(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
}
