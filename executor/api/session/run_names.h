// The texts by which C callers name partial runs. Private to executor/api/session/.
#pragma once

#include <string>

namespace tenon::api {

// A copy of the text, for the caller until DeleteRunName. Thread-safe, as is the other function.
const char* NewRunName(const std::string& text);
// False if the text was deleted before. The memory of a deleted text stays, with no text in it,
// until it holds another one.
bool DeleteRunName(const char* text);

}  // namespace tenon::api
