// The tests run on what is shipped: the package resolves its own name to `dist`.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    typecheck: { include: ["test/**/*.test-d.ts"], tsconfig: "./tsconfig.test.json" },
    // Children are started, and a packed package is installed.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
