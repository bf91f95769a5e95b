// Makes JavaScript of a component: node transpile.mjs COMPONENT FOLDER.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { transpileBytes, writeFiles } from "@bytecodealliance/jco-transpile";

const [, , component, folder] = process.argv;
const { files } = await transpileBytes(await readFile(component), { name: "leasebook", instantiation: "sync" });
await writeFiles(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [join(folder, name), bytes])));
