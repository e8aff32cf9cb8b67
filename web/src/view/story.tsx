// The execution story: phases, events and how the hardware behaved, each line with its evidence.

import type { Facts, StoryNode } from '../data/facts';

function Line({ node }: { node: StoryNode }) {
  return (
    <li>
      <span class={node.mark ? '' : 'heading'}>{node.text}</span>
      {node.mark && (
        <span class="mark" title={node.evidence}>
          {node.mark}
        </span>
      )}
      {node.below.length > 0 && (
        <ul>
          {node.below.map((below, i) => (
            <Line key={i} node={below} />
          ))}
        </ul>
      )}
    </li>
  );
}

export function Story({ facts }: { facts: Facts }) {
  return (
    <section aria-label="Story" class="story">
      {(facts.story ?? []).map((section) => (
        <article key={section.title}>
          <h2>
            {section.title} <span class="sub">{section.after}</span>
          </h2>
          <ul>
            {section.nodes.map((node, i) => (
              <Line key={i} node={node} />
            ))}
          </ul>
        </article>
      ))}
    </section>
  );
}
