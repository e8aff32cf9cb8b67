// A view that fails says so, and leaves the others.

import { Component, type ComponentChildren } from 'preact';

export class Guard extends Component<{ children: ComponentChildren }, { failed: string }> {
  override state = { failed: '' };
  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ failed: String(error) });
  }
  override render() {
    return this.state.failed ? <p role="alert">This view could not be drawn ({this.state.failed}). The same content is in the files beside this page.</p> : this.props.children;
  }
}
