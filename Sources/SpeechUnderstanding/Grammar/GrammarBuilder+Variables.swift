extension GrammarBuilder {
  /// How much of an expression there is.
  struct Extent {
    /// Items, as far as they matter for what is copied.
    var size = 0
    /// How deep items are nested, those of copied variables included.
    var depth = 0
  }

  /// Builds the variables that are called, those first that others need.
  mutating func buildVariables() throws(GrammarFailure) {
    for name in try self.neededVariables() {
      guard let expression = self.program.variables[name] else { continue }
      var extent = self.extent(of: expression)
      if extent.size > Self.inlineLimit || extent.depth > Self.inlineDepth {
        self.networks[.variable(name)] = try self.sequence(expression.items[...], before: Grammar.end)
        extent = Extent(size: extent.size)
      }
      self.extents[name] = extent
    }
  }

  /// The variables that the templates need, each behind those that it needs itself; without recursion.
  private func neededVariables() throws(GrammarFailure) -> [String] {
    enum Progress { case begun, done }
    var order: [String] = []
    var progress: [String: Progress] = [:]
    for template in self.program.templates {
      var work = template.expression.variables().sorted(by: >)
      while let name = work.last {
        guard progress[name] == nil, let expression = self.program.variables[name] else {
          if progress[name] == .begun {
            progress[name] = .done
            order.append(name)
          }
          work.removeLast()
          continue
        }
        progress[name] = .begun
        for need in expression.variables().sorted(by: >) {
          // One that has begun and is not done is needed by itself.
          guard progress[need] != .begun else { throw .cyclic(need, template.range) }
          if progress[need] == nil { work.append(need) }
        }
      }
    }
    return order
  }

  func extent(of expression: SALExpression) -> Extent {
    var sum = Extent()
    for item in expression.items where sum.size <= Self.inlineLimit || sum.depth <= Self.inlineDepth {
      let own = self.extent(of: item)
      sum.size = min(sum.size + own.size, Self.inlineLimit + 1)
      sum.depth = max(sum.depth, own.depth)
    }
    return sum
  }

  private func extent(of item: SALItem) -> Extent {
    var inner = Extent()
    func take(_ other: Extent, times: Int = 1) {
      // Nested permutations would else be too many for a number.
      inner.size = min(inner.size + other.size * times, Self.inlineLimit + 1)
      inner.depth = max(inner.depth, other.depth)
    }
    switch item.kind {
    case .word, .intent: return Extent(size: 1)
    case .numbers(let range): return Extent(size: min(range.count, Self.inlineLimit + 1))
    case .variable(let name):
      take(self.extents[name] ?? Extent())
    case .entity(let value, _):
      take(self.extent(of: value))
      inner.size += 2
    case .list(let alternatives):
      for alternative in alternatives where inner.size <= Self.inlineLimit {
        take(self.extent(of: alternative.expression))
      }
    case .permutation(let items):
      for item in items { take(self.extent(of: item), times: items.count) }
    case .optional(let expression, _):
      take(self.extent(of: expression))
    }
    return Extent(size: inner.size, depth: inner.depth + 1)
  }
}
