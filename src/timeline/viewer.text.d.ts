// Made by the build of viewer/: the script and the style of the timeline's page.
export declare const script: string;
export declare const style: string;
