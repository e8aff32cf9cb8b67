#pragma once

// The loader's own functions, through which libraries come later.
namespace fathom::probe {

bool is_loader_function(const char* name);  // dlopen, dlsym
// What a reference to one of them goes to instead; null: to `target` itself.
void* loader_entry(const char* name, void* target);

}  // namespace fathom::probe
