/** People do pass passwords on command lines and log them, and what is listed here goes to a model. */
export function maskSecrets(text: string): string {
  return text
    .replace(/(\S*(?:pass(?:word|wd)?|token|secret|api[-_]?key)\S*?)([= ]+)(?!-)\S+/gi, "$1$2***")
    .replace(/(:\/\/[^\s:/@]+:)[^\s@]+@/g, "$1***@");
}
