#include <algorithm>
#include <map>
#include <set>

#include "scan/python/extract.h"
#include "scan/python/option_parts.h"

namespace fathom::python {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c;
  return out;
}

const std::set<std::string_view> kMethods = {"get",  "post",    "put",   "delete",   "patch",
                                             "head", "options", "trace", "websocket"};

class RouteFinder {
 public:
  RouteFinder(const Outline& outline, PythonFile& into)
      : outline_(outline), tree_(outline.tree), into_(into) {}

  void run() {
    for (const Site& site : outline_.assignments) note_prefix(site);
    for (const Site& site : outline_.calls) {
      if (tree_.kind(tree_.child(site.node)) == NodeKind::kAttribute) read(site);
    }
    for (Route& route : into_.routes) {
      const auto prefix = prefixes_.find(route.router);
      if (prefix != prefixes_.end()) route.path = prefix->second + route.path;
    }
  }

 private:
  // router = APIRouter(prefix="/v1"); Blueprint("x", __name__, url_prefix="/v1")
  void note_prefix(const Site& site) {
    const NodeId value = tree_.child(site.node, 1);
    if (tree_.kind(site.node) != NodeKind::kAssign || tree_.kind(value) != NodeKind::kCall) return;
    const std::string_view maker = outline_.last_name(tree_.child(value));
    if (!maker.ends_with("Router") && maker != "Blueprint" && maker != "FastAPI") return;
    const CallArguments arguments = outline_.arguments(value);
    NodeId prefix = arguments.keyword(maker == "Blueprint" ? "url_prefix" : "prefix");
    if (prefix == 0) prefix = arguments.keyword("root_path");
    const auto text = prefix == 0 ? std::nullopt : outline_.text(prefix);
    if (text) prefixes_[tree_.source(tree_.child(site.node), 100)] = text->text;
  }

  void read(const Site& site) {
    const NodeId callee = tree_.child(site.node);
    const std::string_view verb = tree_.extra(callee);
    const CallArguments arguments = outline_.arguments(site.node);
    if (verb == "include_router" || verb == "register_blueprint") return mount(site, arguments);
    if (const auto function = decorated_function(outline_, site.node)) {
      const bool any = verb == "route" || verb == "api_route" || verb == "websocket_route";
      if (any || kMethods.contains(verb)) {
        add(site, any ? "" : verb, arguments.find(0, verb == "route" ? "rule" : "path"), arguments,
            outline_.function_name(*function));
      }
      return;
    }
    if (verb == "add_api_route" || verb == "add_url_rule" || verb == "add_api_websocket_route") {
      NodeId handler = arguments.keyword("endpoint");
      if (handler == 0 || verb == "add_url_rule") handler = arguments.keyword("view_func");
      if (handler == 0) handler = arguments.keyword("endpoint");
      if (handler == 0) handler = arguments.at(verb == "add_url_rule" ? 2 : 1);
      add(site, verb == "add_api_websocket_route" ? "websocket" : "", arguments.find(0, "path"),
          arguments, tree_.source(handler, 200));
    } else if (verb.starts_with("add_") && kMethods.contains(verb.substr(4))) {  // aiohttp
      add(site, verb.substr(4), arguments.at(0), arguments, tree_.source(arguments.at(1), 200));
    } else if (verb == "add_route" && arguments.positional.size() >= 3) {
      const auto method = outline_.text(arguments.at(0));
      if (method) {
        add(site, method->text, arguments.at(1), arguments, tree_.source(arguments.at(2), 200));
      }
    }
  }

  void add(const Site& site, std::string_view verb, NodeId path, const CallArguments& arguments,
           std::string function) {
    const auto text = path == 0 ? std::nullopt : outline_.text(path);
    if (!text || (!text->text.empty() && text->text[0] != '/' && text->text[0] != '{')) return;
    const NodeId router = tree_.child(tree_.child(site.node));
    Route route{"", text->text, std::move(function), tree_.source(router, 100),
                tree_.line_first(site.node)};
    std::vector<std::string> methods = {upper(verb.empty() ? "get" : verb)};
    if (const NodeId listed = arguments.keyword("methods"); listed != 0) {
      methods = choices_of(outline_, listed);
    }
    for (const std::string& method : methods) {
      route.method = upper(method);
      into_.routes.push_back(route);
    }
  }

  void mount(const Site& site, const CallArguments& arguments) {
    const NodeId router = arguments.find(0, "router");
    if (router == 0) return;
    NodeId prefix = arguments.keyword("prefix");
    if (prefix == 0) prefix = arguments.keyword("url_prefix");
    into_.router_mounts.push_back({tree_.source(tree_.child(tree_.child(site.node)), 100),
                                   tree_.source(router, 200), help_of(outline_, prefix),
                                   tree_.line_first(site.node)});
  }

  const Outline& outline_;
  const Tree& tree_;
  PythonFile& into_;
  std::map<std::string, std::string> prefixes_;
};

}  // namespace

void find_routes(const Outline& outline, PythonFile& into) { RouteFinder(outline, into).run(); }

}  // namespace fathom::python
