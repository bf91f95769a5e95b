// Times pairs of lock and unlock of one file: node proper-lockfile.cjs FOLDER. Reads a count a line, answers nanoseconds.
const lockfile = require("proper-lockfile")
const fs = require("node:fs")
const file = require("node:path").join(process.argv[2], "proper-lockfile")
fs.writeFileSync(file, "")
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const count = Number(line)
  const start = process.hrtime.bigint()
  for (let n = 0; n < count; n++) lockfile.lockSync(file)()
  console.log(String(process.hrtime.bigint() - start))
})
