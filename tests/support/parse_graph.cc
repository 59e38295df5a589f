#include "tests/support/parse_graph.h"

#include <gtest/gtest.h>

#include <utility>

#include "graph/io/io.h"

namespace tenon::testing {

Graph Parse(std::string text) {
  absl::StatusOr<Imported> imported = ImportBytes(std::move(text), "test.pbtxt");
  if (!imported.ok()) {
    ADD_FAILURE() << imported.status();
    return Graph();
  }
  for (const Defect& d : imported->defects) ADD_FAILURE() << d.ToString();
  return std::move(imported->graph);
}

}  // namespace tenon::testing
