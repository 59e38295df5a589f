// The texts by which C callers name partial runs. Private to executor/api/session/.
#pragma once

#include <string>

namespace tenon::api {

// Returns a copy of the text, for the caller until DeleteRunName. Thread-safe, as is DeleteRunName.
const char* NewRunName(const std::string& text);
// Returns false, and reads nothing, if `text` is no pointer that NewRunName returned or was deleted
// before. A deleted text becomes empty. Its memory stays allocated for a later text: from then on
// the old pointer means the later text.
bool DeleteRunName(const char* text);

}  // namespace tenon::api
